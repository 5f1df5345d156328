//! How much of what was published may be in flight: so many requests, and so many bytes of them.

use std::sync::Arc;

use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore, TryAcquireError};

use crate::bus::{BusLimits, PublishError};
use crate::message::HookExecutionRequest;

/// Bytes are counted by the KiB.
const UNIT: usize = 1024;

/// The places there are; a request waits for its own behind those that came before it.
#[derive(Debug)]
pub(crate) struct Places {
    requests: Arc<Semaphore>,
    units: Arc<Semaphore>,
    all_units: u32,
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
        let requests = limits.in_flight.clamp(1, Semaphore::MAX_PERMITS);
        let units = (limits.in_flight_bytes / UNIT).clamp(1, Semaphore::MAX_PERMITS);
        let all_units = u32::try_from(units).unwrap_or(u32::MAX);
        Self {
            requests: Arc::new(Semaphore::new(requests)),
            units: Arc::new(Semaphore::new(all_units as usize)),
            all_units,
        }
    }

    /// Waits for a place.
    pub(crate) async fn enter(
        &self,
        request: &HookExecutionRequest,
    ) -> Result<Place, PublishError> {
        let units = self.units_of(request);
        let entered = async {
            let request = Arc::clone(&self.requests).acquire_owned().await?;
            let units = Arc::clone(&self.units).acquire_many_owned(units).await?;
            Ok(Place { request, units })
        };
        // The bus never closes its places.
        entered.await.map_err(|_: AcquireError| PublishError::Full)
    }

    /// Takes a place if there is one.
    pub(crate) fn try_enter(&self, request: &HookExecutionRequest) -> Result<Place, PublishError> {
        let units = self.units_of(request);
        let entered = || {
            let request = Arc::clone(&self.requests).try_acquire_owned()?;
            let units = Arc::clone(&self.units).try_acquire_many_owned(units)?;
            Ok(Place { request, units })
        };
        entered().map_err(|_: TryAcquireError| PublishError::Full)
    }

    fn units_of(&self, request: &HookExecutionRequest) -> u32 {
        u32::try_from(request.weight() / UNIT).unwrap_or(u32::MAX).min(self.all_units)
    }
}
