// Preloaded to set the clock ten years ahead, like faketime.
const now = Date.now;
Date.now = () => now() + 10 * 365 * 86_400_000;
