"""The grammar of the language, its scanner, and what explains a syntax error."""
