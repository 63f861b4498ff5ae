"""Component texts -> checked components; the shipped libraries, and the catalogue made of them."""
