"""Programs that stand in for `edge_filler` and fail as only a program can."""
