package temporal

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

// Big is the size from which a payload is packed, and, if it is still as big, kept
// beside the history.
const Big = 32 << 10

const (
	encodingKey = "encoding"
	packed      = "binary/belay-gzip"
	referred    = "binary/belay-ref"
)

// Codec keeps big payloads out of histories. Dir is a directory that all workers
// and clients of a namespace see; without one, payloads are only packed, and what is
// too big for the server all the same is refused: see TooBig.
type Codec struct{ Dir string }

// Converter is the data converter of a client or worker.
func (c Codec) Converter() converter.DataConverter {
	return converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), c)
}

// Encode packs what is big.
func (c Codec) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		out[i] = p
		if len(p.GetData()) < Big {
			continue
		}
		b, err := pressed(p)
		if err != nil {
			return nil, fmt.Errorf("pack a payload: %w", err)
		}
		out[i] = payload(packed, b)
		if c.Dir == "" || len(b) < Big {
			continue
		}
		sum := sha256.Sum256(b)
		sha := hex.EncodeToString(sum[:])
		if err := c.put(sha, b); err != nil {
			return nil, fmt.Errorf("keep a payload: %w", err)
		}
		out[i] = payload(referred, []byte(sha))
	}
	size := 0
	for _, p := range out {
		size += proto.Size(p)
	}
	if size > maxWire {
		return nil, &TooBig{size}
	}
	return out, nil
}

// pressed are the bytes of a payload that is packed.
func pressed(p *commonpb.Payload) ([]byte, error) {
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(p)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	_, err = z.Write(raw)
	err = errors.Join(err, z.Close())
	return b.Bytes(), err
}

func payload(encoding string, data []byte) *commonpb.Payload {
	return &commonpb.Payload{Metadata: map[string][]byte{encodingKey: []byte(encoding)}, Data: data}
}

// Decode unpacks what Encode packed.
func (c Codec) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		data := p.GetData()
		switch string(p.GetMetadata()[encodingKey]) {
		case referred:
			b, err := c.get(string(data))
			if err != nil {
				return nil, err
			}
			data = b
		case packed:
		default:
			out[i] = p
			continue
		}
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("unpack a payload: %w", err)
		}
		raw, err := io.ReadAll(io.LimitReader(z, maxPayload))
		if err != nil {
			return nil, fmt.Errorf("unpack a payload: %w", err)
		}
		out[i] = &commonpb.Payload{}
		if err := proto.Unmarshal(raw, out[i]); err != nil {
			return nil, fmt.Errorf("unpack a payload: %w", err)
		}
	}
	return out, nil
}

// maxPayload is the biggest payload that is unpacked.
const maxPayload = 1 << 30

func (c Codec) path(sha string) string { return filepath.Join(c.Dir, sha[:2], sha) }

// put keeps bytes under their digest, once. The time of the file is that of its last use, so
// that who removes old ones takes none away that is new to somebody.
func (c Codec) put(sha string, b []byte) error {
	path, now := c.path(sha), time.Now()
	if err := os.Chtimes(path, now, now); err == nil || !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(b)
	if err == nil {
		err = tmp.Sync()
	}
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name()) // the error that is returned matters more
	}
	return err
}

// get reads them again, and proves that they are what was kept.
func (c Codec) get(sha string) ([]byte, error) {
	if len(sha) != hex.EncodedLen(sha256.Size) || c.Dir == "" {
		return nil, fmt.Errorf("payload %q is kept in a directory that is not named here (--blobs)", sha)
	}
	b, err := os.ReadFile(c.path(sha))
	if err != nil {
		return nil, fmt.Errorf("read a payload: %w", err)
	}
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != sha {
		return nil, fmt.Errorf("payload %s is not what was kept", sha)
	}
	return b, nil
}
