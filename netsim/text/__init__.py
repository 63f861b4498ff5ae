"""Source text -> syntax tree with places; units; messages with carets; the syntax tree as text again."""
