"""The Django project: what the packages share when they run together."""
