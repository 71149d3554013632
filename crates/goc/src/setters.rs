//! What writes the setters of the structs that hold parameters.

/// Setters, each of the field of its own name: it becomes the argument, or what `=` makes of it.
///
/// For use within an `impl`:
///
/// ```text
/// setters! {
///     /// Distance between points; the squared one by default.
///     distance: Distance;
///     /// How many starts; at least one is made.
///     starts: usize = starts.max(1);
/// }
/// ```
macro_rules! setters {
    (@value $name:ident) => {
        $name
    };
    (@value $name:ident $value:expr) => {
        $value
    };
    ($($(#[$doc:meta])* $name:ident: $type:ty $(= $value:expr)?;)*) => {$(
        $(#[$doc])*
        pub fn $name(mut self, $name: $type) -> Self {
            self.$name = setters!(@value $name $($value)?);
            self
        }
    )*};
}
