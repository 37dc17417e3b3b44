// Required into the program: its clock is a minute ahead, as if it had been started a minute later.
const now = Date.now;
Date.now = () => now() + 60_000;
