//! The report page: one HTML file with everything in it, that needs no network.
