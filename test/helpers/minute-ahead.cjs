// Preloaded to set the clock a minute ahead.
const now = Date.now;
Date.now = () => now() + 60_000;
