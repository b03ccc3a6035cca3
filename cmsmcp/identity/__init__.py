"""Who is calling: tokens and the actors they stand for."""
