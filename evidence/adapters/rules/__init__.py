"""The deterministic restructurer: reads badly structured notes by rules, offline (spec 20)."""
