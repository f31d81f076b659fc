"""All five mechanisms on one drive."""
