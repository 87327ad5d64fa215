"""The models that can be called: their clients, keys, limits and queues."""
