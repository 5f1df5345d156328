//! How much of what was published may be in flight: so many requests, and so many bytes of them, for
//! each depth of nesting. A hook holds its request's place while it waits for what it asked for.

use std::sync::{Arc, OnceLock};

use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore, TryAcquireError};

use super::limits::{BusLimits, PublishError};
use super::origin::MAX_DEPTH;
use crate::message::HookExecutionRequest;

/// Bytes are counted by the KiB.
const UNIT: usize = 1024;

/// The places there are for each depth; a request waits for its own behind those that came before it.
#[derive(Debug)]
pub(crate) struct Places {
    requests: usize,
    units: u32,
    /// Made when the first of a depth comes.
    depths: [OnceLock<Depth>; MAX_DEPTH as usize + 1],
}

#[derive(Debug)]
struct Depth {
    requests: Arc<Semaphore>,
    units: Arc<Semaphore>,
}

/// A request's place; given back by being dropped.
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

    /// Waits for a place.
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
        // The bus never closes its places.
        entered.await.map_err(|_: AcquireError| PublishError::Full)
    }

    /// Takes a place if there is one.
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

    /// The places of a depth. There are some for every depth that an [`Origin`] has.
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
