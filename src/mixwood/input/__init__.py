"""Arrays and tables in: matrices that the core reads, and categories as codes."""
