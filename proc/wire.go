package proc

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/fault"
)

// The protocol between driver and keeper: frames of JSON, each with its length
// in front. Fields are only ever added.
const (
	protocol      = 1
	maxFrame      = 16 << 20
	frameHead     = 4
	maxSocketName = 100 // the kernel's limit is 108 with the final NUL
)

var errFrameSize = errors.New("frame is too big")

// TooBig says that something does not fit into a frame. Nothing was sent.
type TooBig struct {
	Size, Limit int // bytes
}

func (e *TooBig) Error() string {
	return fmt.Sprintf("%d bytes for the keeper, %d at most", e.Size, e.Limit)
}

// request is what a driver says; one field is set.
type request struct {
	Hello  *hello     `json:"hello,omitempty"`
	Spawn  *spawnAsk  `json:"spawn,omitempty"`
	Signal *signalAsk `json:"signal,omitempty"`
	Close  *struct{}  `json:"close,omitempty"`
	Lease  *leaseAsk  `json:"lease,omitempty"`
	Whose  *struct{}  `json:"whose,omitempty"` // asked by anybody: which attempt do I belong to?
}

type hello struct {
	Proto int         `json:"proto"`
	Run   belay.RunID `json:"run"`
	Epoch int64       `json:"epoch"`
	Open  []belay.Key `json:"open,omitempty"`
	Env   Texts       `json:"env,omitempty"`
}

type spawnAsk struct {
	Epoch int64 `json:"epoch"`
	Spawn
}

type signalAsk struct {
	Key   belay.Key      `json:"key,omitempty"` // "" = all
	Why   fault.KilledBy `json:"why"`
	Grace time.Duration  `json:"grace,omitempty"` // 0 = the attempt's own
	Close bool           `json:"close,omitempty"` // no births from now on in this epoch
}

// reply is what a keeper says; one field is set.
type reply struct {
	Held    *held    `json:"held,omitempty"`
	Exit    *Exit    `json:"exit,omitempty"`
	Refused *refusal `json:"refused,omitempty"`
	Bye     *bye     `json:"bye,omitempty"`
	Owner   *owner   `json:"owner,omitempty"`
}

// held answers a hello: what the keeper knows of the open keys. A key in
// neither list was never seen by this keeper, or its exit is in the log and had
// no room here.
type held struct {
	Running []belay.Key `json:"running,omitempty"`
	Done    []Exit      `json:"done,omitempty"`
}

type refusal struct {
	Epoch int64       `json:"epoch,omitempty"` // the epoch that is ahead
	Run   belay.RunID `json:"run,omitempty"`   // the run that is held here, when another was asked for
	Proto int         `json:"proto,omitempty"` // the protocol that is spoken here
	Cause string      `json:"cause,omitempty"` // for people: what kept the keeper from serving
}

// bye answers a close or a stop from outside.
type bye struct {
	Running int `json:"running"`
}

// owner answers whose.
type owner struct {
	Kin bool      `json:"kin,omitempty"` // it descends from this keeper
	Key belay.Key `json:"key,omitempty"` // and from the leader of this attempt
}

// link is one end of a connection.
type link struct {
	conn *net.UnixConn
	in   *bufio.Reader
	buf  []byte

	out sync.Mutex // one frame at a time

	stale bool // a newer driver took over; under the keeper's lock
}

func newLink(c *net.UnixConn) *link {
	return &link{conn: c, in: bufio.NewReaderSize(c, 32<<10)}
}

// send writes one value as one frame, in one write.
func (l *link) send(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode frame: %w", err)
	}
	return l.sendRaw(b)
}

func (l *link) sendRaw(b []byte) error {
	l.out.Lock()
	defer l.out.Unlock()
	return l.write(b)
}

func (l *link) write(b []byte) error {
	if len(b) > maxFrame {
		return &TooBig{Size: len(b), Limit: maxFrame}
	}
	frame := make([]byte, frameHead, frameHead+len(b))
	binary.BigEndian.PutUint32(frame, uint32(len(b)))
	_, err := l.conn.Write(append(frame, b...))
	return err
}

// receive reads one frame into v.
func (l *link) receive(v any) error {
	var head [frameHead]byte
	if _, err := io.ReadFull(l.in, head[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxFrame {
		return errFrameSize
	}
	if cap(l.buf) < int(n) {
		l.buf = make([]byte, n)
	}
	b := l.buf[:n]
	if _, err := io.ReadFull(l.in, b); err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("decode frame: %w", err)
	}
	return nil
}

// dial connects to the keeper's socket and makes sure that it is ours.
func dial(path string) (*link, error) {
	name, dir, err := socketName(path)
	if err != nil {
		return nil, fmt.Errorf("dial keeper: %w", err)
	}
	if dir != nil {
		defer dir.Close()
	}
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: name, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("dial keeper: %w", err)
	}
	if err := checkPeer(c); err != nil {
		_ = c.Close() // the refusal is what counts
		return nil, fmt.Errorf("dial keeper: %w", err)
	}
	return newLink(c), nil
}

// listen opens the keeper's socket. The caller holds the keeper's lock, so a
// file that is there belongs to a dead one.
func listen(path string) (*net.UnixListener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove stale socket: %w", err)
	}
	name, dir, err := socketName(path)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	if dir != nil {
		defer dir.Close()
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	l.SetUnlinkOnClose(false) // its name may go through a folder that is closed by then
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close() // the first error is what counts
		return nil, fmt.Errorf("listen: %w", err)
	}
	return l, nil
}

// checkPeer refuses another user at the other end.
func checkPeer(c *net.UnixConn) error {
	uid, err := peerUID(c)
	if err != nil {
		return fmt.Errorf("ask for the peer: %w", err)
	}
	if uid != os.Geteuid() {
		return fmt.Errorf("peer is user %d", uid)
	}
	return nil
}
