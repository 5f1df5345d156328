//! Permits for published requests in flight: their number and size are limited per nesting depth,
//! since a hook's request keeps its permit while it waits for nested requests.

use std::sync::{Arc, OnceLock};

use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore, TryAcquireError};

use super::limits::{BusLimits, PublishError};
use super::origin::MAX_DEPTH;
use crate::message::HookExecutionRequest;

/// The unit of size: permits count KiB.
const UNIT_BYTES: usize = 1024;

/// The permits for each depth, handed out in the order of requests.
#[derive(Debug)]
pub(crate) struct RequestPermits {
    max_requests: usize,
    max_units: u32,
    /// Made on the first request of a depth.
    depths: [OnceLock<DepthSemaphores>; MAX_DEPTH as usize + 1],
}

#[derive(Debug)]
struct DepthSemaphores {
    requests: Arc<Semaphore>,
    units: Arc<Semaphore>,
}

/// A request's permit; dropping it returns it.
#[derive(Debug)]
#[expect(dead_code, reason = "the permits are held, and given back by being dropped")]
pub(crate) struct RequestPermit {
    request: OwnedSemaphorePermit,
    units: OwnedSemaphorePermit,
}

impl RequestPermits {
    pub(crate) fn new(limits: &BusLimits) -> Self {
        let units = (limits.in_flight_bytes / UNIT_BYTES).clamp(1, Semaphore::MAX_PERMITS);
        Self {
            max_requests: limits.in_flight.clamp(1, Semaphore::MAX_PERMITS),
            max_units: u32::try_from(units).unwrap_or(u32::MAX),
            depths: [const { OnceLock::new() }; MAX_DEPTH as usize + 1],
        }
    }

    /// Waits for a permit.
    pub(crate) async fn acquire(
        &self,
        request: &HookExecutionRequest,
        depth: u32,
    ) -> Result<RequestPermit, PublishError> {
        let (units, depth) = (self.units_for(request), self.depth_semaphores(depth)?);
        let acquired = async {
            let request = Arc::clone(&depth.requests).acquire_owned().await?;
            let units = Arc::clone(&depth.units).acquire_many_owned(units).await?;
            Ok(RequestPermit { request, units })
        };
        // The semaphores are never closed.
        acquired.await.map_err(|_: AcquireError| PublishError::Full)
    }

    /// Takes a permit if one is free.
    pub(crate) fn try_acquire(
        &self,
        request: &HookExecutionRequest,
        depth: u32,
    ) -> Result<RequestPermit, PublishError> {
        let (units, depth) = (self.units_for(request), self.depth_semaphores(depth)?);
        let acquire = || {
            let request = Arc::clone(&depth.requests).try_acquire_owned()?;
            let units = Arc::clone(&depth.units).try_acquire_many_owned(units)?;
            Ok(RequestPermit { request, units })
        };
        acquire().map_err(|_: TryAcquireError| PublishError::Full)
    }

    /// Returns the permits of a depth; every depth of an [`Origin`] has some.
    ///
    /// [`Origin`]: crate::bus::origin::Origin
    fn depth_semaphores(&self, depth: u32) -> Result<&DepthSemaphores, PublishError> {
        let depth = self.depths.get(depth as usize).ok_or(PublishError::Full)?;
        Ok(depth.get_or_init(|| DepthSemaphores {
            requests: Arc::new(Semaphore::new(self.max_requests)),
            units: Arc::new(Semaphore::new(self.max_units as usize)),
        }))
    }

    fn units_for(&self, request: &HookExecutionRequest) -> u32 {
        u32::try_from(request.weight() / UNIT_BYTES).unwrap_or(u32::MAX).min(self.max_units)
    }
}
