/** A royalty statement to try: with a row that is there twice, a rate that is too low, and a gap. */
const SAMPLE = `Period,Track,ISRC,Territory,Platform,Streams,Rate EUR,Amount EUR
2026-Q3,Paper Lanterns,SELH12600011,Sweden,Spotify,184220,0.0038,700.04
2026-Q3,Paper Lanterns,SELH12600011,Germany,Spotify,98110,0.0036,353.20
2026-Q3,Paper Lanterns,SELH12600011,United States,Apple Music,40210,0.0071,285.49
2026-Q3,Paper Lanterns,SELH12600011,Japan,Apple Music,15800,0.0069,109.02
2026-Q3,Low Tide,SELH12600012,Sweden,Spotify,60120,0.0038,228.46
2026-Q3,Low Tide,SELH12600012,Germany,Spotify,51200,0.0014,71.68
2026-Q3,Low Tide,SELH12600012,United States,Apple Music,22010,0.0071,156.27
2026-Q3,Harbour Lights,SELH12600013,Sweden,Spotify,12400,0.0038,47.12
2026-Q3,Harbour Lights,SELH12600013,Sweden,Spotify,12400,0.0038,47.12
2026-Q3,Harbour Lights,,Japan,Apple Music,9050,0.0070,63.35
`;

export const sampleStatement = (): File =>
  new File([SAMPLE], "sample-statement.csv", { type: "text/csv" });
