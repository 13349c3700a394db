package redact

import "encoding/binary"

// filter has a bit for the hash of each three bytes with which a secret may begin, so
// that most places of a text cost one look. It has one size, which the compiler knows:
// big enough for some thousand of them, small enough for the fastest memory.
type filter [1 << filterBits / 64]uint64

const (
	filterBits  = 17
	filterShift = 32 - filterBits
)

func word(b []byte) uint32 { return uint32(b[0])<<8 | uint32(b[1])<<16 | uint32(b[2])<<24 }
func hash(w uint32) uint32 { return w * 2654435761 }

func (f *filter) add(three uint32) {
	h := hash(three) >> filterShift
	f[h>>6] |= 1 << (h & 63)
}

func (f *filter) bit(three uint32) uint64 {
	h := hash(three) >> filterShift
	return f[h>>6] >> (h & 63)
}

// next is the first place from i on at which a secret may begin. The last bytes of b,
// which may grow, are such places.
func (f *filter) next(b []byte, i int) int {
	for ; i+8 <= len(b); i += 4 { // four places at once
		w := binary.LittleEndian.Uint64(b[i:])
		one, two, three, four := f.bit(uint32(w)<<8), f.bit(uint32(w)&^0xff), f.bit(uint32(w>>8)&^0xff), f.bit(uint32(w>>16)&^0xff)
		if (one|two|three|four)&1 == 0 {
			continue
		}
		switch {
		case one&1 != 0:
			return i
		case two&1 != 0:
			return i + 1
		case three&1 != 0:
			return i + 2
		}
		return i + 3
	}
	for ; i+startLen <= len(b); i++ {
		if f.bit(word(b[i:i+startLen]))&1 != 0 {
			return i
		}
	}
	return i
}
