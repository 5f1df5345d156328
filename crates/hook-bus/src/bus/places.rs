//! Permits for published requests in flight: their number and size are limited per nesting depth,
//! since a hook's request keeps its permit while it waits for nested requests.

use std::sync::{Arc, OnceLock};

use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore, TryAcquireError};

use super::limits::{BusLimits, PublishError};
use super::origin::MAX_DEPTH;
use crate::message::HookExecutionRequest;

/// The unit of size: permits count KiB.
const UNIT: usize = 1024;

/// The permits for each depth, handed out in the order of requests.
#[derive(Debug)]
pub(crate) struct Places {
    requests: usize,
    units: u32,
    /// Made on the first request of a depth.
    depths: [OnceLock<Depth>; MAX_DEPTH as usize + 1],
}

#[derive(Debug)]
struct Depth {
    requests: Arc<Semaphore>,
    units: Arc<Semaphore>,
}

/// A request's permit; dropping it returns it.
#[derive(Debug)]
#[expect(dead_code, reason = "the permits are held, and given back by being dropped")]
pub(crate) struct Place {
    request: OwnedSemaphorePermit,
    units: OwnedSemaphorePermit,
}

impl Places {
    pub(crate) fn new(limits: &BusLimits) -> Self {
        let units = (limits.in_flight_bytes / UNIT).clamp(1, Semaphore::MAX_PERMITS);
        Self {
            requests: limits.in_flight.clamp(1, Semaphore::MAX_PERMITS),
            units: u32::try_from(units).unwrap_or(u32::MAX),
            depths: [const { OnceLock::new() }; MAX_DEPTH as usize + 1],
        }
    }

    /// Waits for a permit.
    pub(crate) async fn enter(
        &self,
        request: &HookExecutionRequest,
        depth: u32,
    ) -> Result<Place, PublishError> {
        let (units, depth) = (self.units_of(request), self.at(depth)?);
        let entered = async {
            let request = Arc::clone(&depth.requests).acquire_owned().await?;
            let units = Arc::clone(&depth.units).acquire_many_owned(units).await?;
            Ok(Place { request, units })
        };
        // The semaphores are never closed.
        entered.await.map_err(|_: AcquireError| PublishError::Full)
    }

    /// Takes a permit if one is free.
    pub(crate) fn try_enter(
        &self,
        request: &HookExecutionRequest,
        depth: u32,
    ) -> Result<Place, PublishError> {
        let (units, depth) = (self.units_of(request), self.at(depth)?);
        let entered = || {
            let request = Arc::clone(&depth.requests).try_acquire_owned()?;
            let units = Arc::clone(&depth.units).try_acquire_many_owned(units)?;
            Ok(Place { request, units })
        };
        entered().map_err(|_: TryAcquireError| PublishError::Full)
    }

    /// Returns the permits of a depth; every depth of an [`Origin`] has some.
    ///
    /// [`Origin`]: crate::bus::origin::Origin
    fn at(&self, depth: u32) -> Result<&Depth, PublishError> {
        let depth = self.depths.get(depth as usize).ok_or(PublishError::Full)?;
        Ok(depth.get_or_init(|| Depth {
            requests: Arc::new(Semaphore::new(self.requests)),
            units: Arc::new(Semaphore::new(self.units as usize)),
        }))
    }

    fn units_of(&self, request: &HookExecutionRequest) -> u32 {
        u32::try_from(request.weight() / UNIT).unwrap_or(u32::MAX).min(self.units)
    }
}
