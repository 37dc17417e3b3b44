// Required into the program: its clock is ten years ahead, as faketime would set it.
const now = Date.now;
Date.now = () => now() + 10 * 365 * 86_400_000;
