"""What would happen had the lab done nothing: demand, market, hardware, calendar, dice."""
