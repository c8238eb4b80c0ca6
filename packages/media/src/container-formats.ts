import { ADTS, FLAC, MATROSKA, MP3, MP4, OGG, QTFF, WAVE, WEBM } from "mediabunny";

/** The container formats that are opened. Playlists are excluded because they refer to other files. */
export const CONTAINER_FORMATS = [MP4, QTFF, WEBM, MATROSKA, MP3, WAVE, OGG, FLAC, ADTS];
