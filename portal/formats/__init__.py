"""How dates are written in each language, where Django's own way reads badly."""
