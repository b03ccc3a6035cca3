// Entries of the content types. Schema a63ab84c04d2a439cc80b244bdd8b2b9b3ce91a4a92f890fe63181622cb280fd

/** Events */
export interface Event {
  id: string;
  title: string;
  slug: string;
  /** ISO 8601: a date, or a time in UTC */
  starts_at: string;
  /** ISO 8601: a date, or a time in UTC */
  ends_at: string | null;
  places: number | null;
  price_eur: number | null;
  booking_required: boolean;
  host: string | Person | null;
  instruments: (string | Instrument)[];
  poster: string | Media | null;
  leaflet: string | Media | null;
  programme: Event_programme[] | null;
  /** Markdown, or HTML with format=html */
  body: string;
  status: "draft" | "in_review" | "scheduled" | "published" | "archived";
  published_at: string | null;
  created_at: string | null;
  updated_at: string | null;
  author: string | null;
  locale: string;
}

/** Instruments */
export interface Instrument {
  id: string;
  title: string;
  slug: string;
  kind: string;
  aperture_mm: number | null;
  focal_ratio: number | null;
  operational: boolean;
  /** ISO 8601: a date, or a time in UTC */
  first_light: string | null;
  photo: string | Media | null;
  gallery: (string | Media)[] | null;
  specifications: Instrument_specifications[] | null;
  caretaker: string | Person | null;
  observations?: (string | Observation)[];
  /** Markdown, or HTML with format=html */
  description: string;
  status: "draft" | "in_review" | "scheduled" | "published" | "archived";
  published_at: string | null;
  created_at: string | null;
  updated_at: string | null;
  author: string | null;
  locale: string;
}

/** Observations */
export interface Observation {
  id: string;
  title: string;
  slug: string;
  /** ISO 8601: a date, or a time in UTC */
  observed_at: string;
  target: string | SkyObject | null;
  instrument: string | Instrument | null;
  observers: (string | Person)[];
  seeing_arcsec: number | null;
  cloud_percent: number | null;
  photographic: boolean | null;
  frames: (string | Media)[] | null;
  measurements: Observation_measurements[] | null;
  /** Markdown, or HTML with format=html */
  log: string | null;
  status: "draft" | "in_review" | "scheduled" | "published" | "archived";
  published_at: string | null;
  created_at: string | null;
  updated_at: string | null;
  author: string | null;
  locale: string;
}

/** Pages */
export interface Page {
  id: string;
  title: string;
  slug: string;
  summary: string | null;
  /** Markdown, or HTML with format=html */
  body: string | null;
  status: "draft" | "in_review" | "scheduled" | "published" | "archived";
  published_at: string | null;
  created_at: string | null;
  updated_at: string | null;
  author: string | null;
  locale: string;
}

/** People */
export interface Person {
  id: string;
  title: string;
  slug: string;
  role: string;
  /** ISO 8601: a date, or a time in UTC */
  joined: string | null;
  portrait: string | Media | null;
  mentor: string | Person | null;
  languages: Person_languages[] | null;
  /** Markdown, or HTML with format=html */
  biography: string | null;
  status: "draft" | "in_review" | "scheduled" | "published" | "archived";
  published_at: string | null;
  created_at: string | null;
  updated_at: string | null;
  author: string | null;
  locale: string;
}

/** Posts */
export interface Post {
  id: string;
  title: string;
  slug: string;
  /** ISO 8601: a date, or a time in UTC */
  date: string | null;
  summary: string | null;
  /** Markdown, or HTML with format=html */
  body: string | null;
  status: "draft" | "in_review" | "scheduled" | "published" | "archived";
  published_at: string | null;
  created_at: string | null;
  updated_at: string | null;
  author: string | null;
  locale: string;
}

/** Site settings */
export interface SiteSettings {
  id: string;
  title: string;
  tagline: string;
  hero: string | Media | null;
  dome_open_tonight: boolean | null;
  /** ISO 8601: a date, or a time in UTC */
  season_ends: string | null;
  duty_astronomer: string | Person | null;
  opening_hours: SiteSettings_opening_hours[] | null;
  footer: NavigationItem[] | null;
  /** Markdown, or HTML with format=html */
  notice: string | null;
  status: "draft" | "in_review" | "scheduled" | "published" | "archived";
  published_at: string | null;
  created_at: string | null;
  updated_at: string | null;
  author: string | null;
  locale: string;
}

/** Sky objects */
export interface SkyObject {
  id: string;
  title: string;
  slug: string;
  designation: string;
  constellation: string | null;
  magnitude: number | null;
  distance_ly: number | null;
  naked_eye: boolean | null;
  chart: string | Media | null;
  observations?: (string | Observation)[];
  /** Markdown, or HTML with format=html */
  description: string | null;
  status: "draft" | "in_review" | "scheduled" | "published" | "archived";
  published_at: string | null;
  created_at: string | null;
  updated_at: string | null;
  author: string | null;
  locale: string;
}

export interface Event_programme {
  at: string;
  what: string;
}

export interface Instrument_specifications {
  label: string;
  value: { kind: "string"; value: string } | { kind: "number"; value: number } | { kind: "boolean"; value: boolean };
}

export interface Observation_measurements {
  /** ISO 8601: a date, or a time in UTC */
  taken_at: string;
  magnitude: number | null;
  note: string | null;
}

export interface Person_languages {
  code: string;
  fluent: boolean | null;
}

export interface SiteSettings_opening_hours {
  days: string;
  hours: string;
}

/** An item of a menu */
export interface NavigationItem {
  label: string;
  href: string;
  items?: NavigationItem[];
}

/** A media file */
export interface Media {
  id: string;
  url: string;
  alt: string | null;
  figcaption: string | null;
  width: number | null;
  height: number | null;
}

/** Entries by the slug of their type. */
export interface Entries {
  "event": Event;
  "instrument": Instrument;
  "observation": Observation;
  "page": Page;
  "person": Person;
  "post": Post;
  "site-settings": SiteSettings;
  "sky-object": SkyObject;
}

export type Locale = "en" | "de" | "de-AT" | "ja";
