"""A typed form for each kind of unit, that saves one commit and loses no word."""
