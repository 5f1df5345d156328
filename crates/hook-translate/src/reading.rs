//! Reading payloads in one pass.

use std::convert::Infallible;

use hook_core::shape::ShapeError;
use hook_core::{JsonObject, JsonWalk, RawObject};

/// The elements of the array ahead, which the walk leaves behind in any case. An error is about the
/// first element that is wrong, and begins with its position.
pub(crate) fn each<T>(
    walk: &mut JsonWalk<'_>,
    read: impl Fn(&mut JsonWalk<'_>) -> Result<T, ShapeError>,
) -> Result<Vec<T>, ShapeError> {
    let mut elements = Vec::new();
    let mut wrong = Ok(());
    let array = walk.items(|walk, index| {
        match read(walk) {
            Ok(element) => elements.push(element),
            Err(error) if wrong.is_ok() => wrong = Err(error.within(&format!("[{index}]"))),
            Err(_) => {}
        }
        Ok::<_, Infallible>(())
    });
    let Ok(_) = array;
    wrong.map(|()| elements)
}

/// The fields of an object but one, and what `read` makes of that one, if it is there.
pub(crate) fn fields_and<T>(
    object: &RawObject,
    name: &str,
    read: impl Fn(&mut JsonWalk<'_>) -> Result<T, ShapeError>,
) -> (JsonObject, Option<Result<T, ShapeError>>) {
    let (mut fields, mut one) = (JsonObject::new(), None);
    let object = object.as_raw().walk().entries(|walk, field| {
        if field == name {
            // Of duplicates, the last counts.
            one = Some(read(walk).map_err(|error| error.within(name)));
        } else {
            fields.insert(field, walk.value());
        }
        Ok::<_, Infallible>(())
    });
    let Ok(_) = object;
    (fields, one)
}
