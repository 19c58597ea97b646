"""Router annotations: they are read, remembered and replaced here."""
