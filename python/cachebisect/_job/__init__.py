"""What a loader is measured with: shadow loaders, feeds, caches and blocks."""
