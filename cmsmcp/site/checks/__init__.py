"""What is wrong with the site as a whole: one function and one row per check."""
