/** Version of the message schemas. Additive fields keep it; anything a strict older reader would misread raises it. */
export const PROTOCOL_VERSION = 1;
