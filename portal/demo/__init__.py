"""The demo workspace: its files, its people, and how they are loaded (`tht demo`)."""
