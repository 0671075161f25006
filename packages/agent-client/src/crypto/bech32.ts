/** BIP 173 bech32, the written form of age's keys. Only what is needed to write one. */
const ALPHABET = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3]

/** @param prefix lower case, ASCII */
export function writeBech32(prefix: string, bytes: Uint8Array): string {
  const words = toWords(bytes)
  const head = [...prefix].map((char) => char.charCodeAt(0))
  const spread = [...head.map((code) => code >> 5), 0, ...head.map((code) => code & 31)]
  const sum = polymod([...spread, ...words, 0, 0, 0, 0, 0, 0]) ^ 1
  const check = [25, 20, 15, 10, 5, 0].map((shift) => (sum >>> shift) & 31)
  return `${prefix}1${[...words, ...check].map((word) => ALPHABET.charAt(word)).join('')}`
}

function toWords(bytes: Uint8Array): number[] {
  const words: number[] = []
  let bits = 0
  let value = 0
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xffff
    bits += 8
    while (bits >= 5) {
      bits -= 5
      words.push((value >>> bits) & 31)
    }
  }
  if (bits > 0) words.push((value << (5 - bits)) & 31)
  return words
}

function polymod(words: readonly number[]): number {
  let sum = 1
  for (const word of words) {
    const top = sum >>> 25
    sum = ((sum & 0x1ffffff) << 5) ^ word
    GENERATOR.forEach((step, i) => {
      if ((top >>> i) & 1) sum ^= step
    })
  }
  return sum
}
