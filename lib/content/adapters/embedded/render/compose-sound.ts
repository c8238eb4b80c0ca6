/**
 * A sound track in the mood of a clip, made from nothing but sines: a slow chord, a plucked figure
 * over it and a bass, in a key, a scale and a tempo that the mood and the seed choose.
 */
import { createRandom, type Random } from "./random.ts";
import { SAMPLE_RATE, type Sound } from "./write-video.ts";

interface Character {
  /** Semitones of the scale above its root. */
  readonly scale: readonly number[];
  readonly beatsPerMinute: number;
  /** How much is heard of each, 0 to 1. */
  readonly pad: number;
  readonly pluck: number;
  readonly bass: number;
}

const major = [0, 2, 4, 7, 9];
const minor = [0, 3, 5, 7, 10];

/** The first that matches counts. */
const characters: readonly (readonly [RegExp, Character])[] = [
  [
    /energ|euphor|party|danc|bold|electric|neon|triumph|vibrant|playful|happy|joy/,
    { scale: major, beatsPerMinute: 124, pad: 0.5, pluck: 0.9, bass: 0.9 },
  ],
  [
    /dark|moody|gritty|ominous|tense|noir|brood|myster|stark|intense/,
    { scale: minor, beatsPerMinute: 76, pad: 0.9, pluck: 0.35, bass: 1 },
  ],
  [
    /melanchol|sad|lonel|cold|night|rain|winter|longing|distant|solemn|nostalg/,
    { scale: minor, beatsPerMinute: 68, pad: 0.8, pluck: 0.7, bass: 0.5 },
  ],
];
const calm: Character = { scale: major, beatsPerMinute: 84, pad: 0.8, pluck: 0.6, bass: 0.5 };

const PEAK = 0.7;
const FADE_SECONDS = 0.6;

export function composeSound(words: string, seed: number, seconds: number): Sound {
  const random = createRandom(seed, "sound");
  const lower = words.toLowerCase();
  const character = characters.find(([pattern]) => pattern.test(lower))?.[1] ?? calm;
  const length = Math.round(seconds * SAMPLE_RATE);
  const sound: Sound = { left: new Float32Array(length), right: new Float32Array(length) };
  const root = 110 * 2 ** (Math.floor(random() * 12) / 12);
  const beat = 60 / character.beatsPerMinute;
  const bar = beat * 4;
  for (let start = 0, step = 0; start < seconds; start += bar, step = Math.floor(random() * 5)) {
    const chord = [0, 2, 4].map((third) => pitch(root, character.scale, step + third));
    for (const [voice, frequency] of chord.entries()) {
      // Two that are a hair apart: a chord that seems to move.
      addPad(
        sound,
        frequency * 2.003,
        start,
        bar * 1.25,
        character.pad * 0.16,
        0.25 + voice * 0.25,
      );
      addPad(
        sound,
        frequency * 1.997,
        start,
        bar * 1.25,
        character.pad * 0.16,
        0.75 - voice * 0.25,
      );
    }
    addPad(sound, (chord[0] ?? root) / 2, start, bar, character.bass * 0.3, 0.5);
    addFigure(sound, character, root * 4, start, beat / 2, random);
  }
  finish(sound);
  return sound;
}

function pitch(root: number, scale: readonly number[], degree: number): number {
  const octave = Math.floor(degree / scale.length);
  return root * 2 ** (octave + (scale[degree % scale.length] ?? 0) / 12);
}

function addFigure(
  sound: Sound,
  { scale, pluck }: Character,
  root: number,
  start: number,
  stride: number,
  random: Random,
): void {
  for (let note = 0; note < 8; note++) {
    if (random() < 0.3) continue;
    const frequency = pitch(root, scale, Math.floor(random() * 7));
    addPluck(sound, frequency, start + note * stride, pluck * (0.14 + 0.1 * random()), random());
  }
}

/** @param place 0 left, 1 right */
function addPad(
  sound: Sound,
  frequency: number,
  start: number,
  seconds: number,
  volume: number,
  place: number,
): void {
  const rise = seconds * 0.3;
  addTone(sound, start, seconds, place, (time) => {
    const envelope = Math.min(1, time / rise, (seconds - time) / rise) * volume;
    const angle = 2 * Math.PI * frequency * time;
    return envelope * (Math.sin(angle) + 0.3 * Math.sin(2 * angle) + 0.1 * Math.sin(3 * angle));
  });
}

function addPluck(
  sound: Sound,
  frequency: number,
  start: number,
  volume: number,
  place: number,
): void {
  addTone(sound, start, 1.4, place, (time) => {
    const angle = 2 * Math.PI * frequency * time;
    const strike = Math.min(1, time / 0.004) * volume * Math.exp(-4.5 * time);
    return strike * (Math.sin(angle) + 0.4 * Math.sin(2 * angle) * Math.exp(-9 * time));
  });
}

function addTone(
  { left, right }: Sound,
  start: number,
  seconds: number,
  place: number,
  at: (time: number) => number,
): void {
  const first = Math.round(start * SAMPLE_RATE);
  const last = Math.min(left.length, first + Math.round(seconds * SAMPLE_RATE));
  const [onLeft, onRight] = [Math.cos((place * Math.PI) / 2), Math.sin((place * Math.PI) / 2)];
  for (let sample = first; sample < last; sample++) {
    const value = at((sample - first) / SAMPLE_RATE);
    left[sample] = (left[sample] ?? 0) + value * onLeft;
    right[sample] = (right[sample] ?? 0) + value * onRight;
  }
}

/** Brings the loudest moment to the peak, and lets the track come and go. */
function finish({ left, right }: Sound): void {
  let loudest = 0.001;
  for (const value of left) loudest = Math.max(loudest, Math.abs(value));
  for (const value of right) loudest = Math.max(loudest, Math.abs(value));
  const fade = Math.min(left.length / 2, FADE_SECONDS * SAMPLE_RATE);
  for (let sample = 0; sample < left.length; sample++) {
    const edge = Math.min(1, sample / fade, (left.length - sample) / fade);
    const gain = (PEAK / loudest) * edge;
    left[sample] = (left[sample] ?? 0) * gain;
    right[sample] = (right[sample] ?? 0) * gain;
  }
}
