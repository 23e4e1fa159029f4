"""From rewards to an update: advantages, token losses and aggregation; one short file per preset."""
