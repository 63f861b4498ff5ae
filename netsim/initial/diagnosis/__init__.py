"""Why Newton's method fails: the elements and the equations behind it."""
