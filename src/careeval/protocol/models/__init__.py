"""Models that can be asked: their clients, keys, limits and queues."""
