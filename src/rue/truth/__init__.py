"""Truth: what annotators said about each point, and how their finite number matters."""
