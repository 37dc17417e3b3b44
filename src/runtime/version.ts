declare const SURVEYCTL_VERSION: string | undefined;

export const VERSION: string = typeof SURVEYCTL_VERSION === "string" ? SURVEYCTL_VERSION : "0.0.0-source";
