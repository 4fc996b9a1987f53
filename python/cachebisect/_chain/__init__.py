"""What a loader consists of: samples, stages, orders, and how its batches are moved and pinned."""
