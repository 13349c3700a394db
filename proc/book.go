package proc

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/fault"
)

// book is what the keeper's log says about some keys.
type book struct {
	kept   bool     // a keeper has written here
	keeper Identity // the last one
	epoch  int64    // the highest
	closed int64    // the highest epoch that was closed for births
	born   map[belay.Key]bool
	lost   map[belay.Key]bool
	exits  map[belay.Key]*Exit
}

// found says what became of an attempt whose keeper is dead. With the machine
// still up since its keeper's time every line that was written is there; after
// a reboot a missing birth proves nothing. Neither does a log without a keeper:
// its line is written before any attempt can be open, so that log was lost.
func (b *book) found(key belay.Key, boot string) State {
	switch exit := b.exits[key]; {
	case exit != nil:
		return State{Found: fault.Harvested, Exit: exit}
	case b.born[key] || b.lost[key]:
		return State{Found: fault.Lost}
	case b.kept && b.keeper.Boot == boot:
		return State{Found: fault.Unborn}
	}
	return State{Found: fault.Lost}
}

// readBook reads the log for the keys. It decodes only the lines that matter:
// a log may hold the exits of thousands of other attempts.
func readBook(dir string, keys []belay.Key) (*book, error) {
	b := &book{born: map[belay.Key]bool{}, lost: map[belay.Key]bool{}, exits: map[belay.Key]*Exit{}}
	f, err := os.Open(filepath.Join(dir, ledgerName))
	if errors.Is(err, os.ErrNotExist) {
		return b, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open keeper log: %w", err)
	}
	defer f.Close()
	quoted := map[string]belay.Key{}
	for _, k := range keys {
		q, err := json.Marshal(k)
		if err != nil {
			return nil, fmt.Errorf("encode key: %w", err)
		}
		quoted[string(q)] = k
	}
	if err := b.read(f, quoted); err != nil {
		return nil, fmt.Errorf("read keeper log: %w", err)
	}
	return b, nil
}

func (b *book) read(r io.Reader, quoted map[string]belay.Key) error {
	in := bufio.NewReaderSize(r, 256<<10)
	var long []byte
	for {
		part, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, part...)
			continue
		}
		if errors.Is(err, io.EOF) {
			return nil // what follows the last newline is half a line
		}
		if err != nil {
			return err
		}
		if len(long) > 0 {
			part = append(long, part...)
			long = long[:0]
		}
		b.line(part, quoted)
	}
}

// line takes in one line. One that does not decode was torn by a crash and says
// nothing.
func (b *book) line(line []byte, quoted map[string]belay.Key) {
	if rest, ok := bytes.CutPrefix(line, []byte(`{"birth":`)); ok {
		if key, ok := quoted[string(token(rest))]; ok {
			b.born[key] = true
		}
		return
	}
	if rest, ok := bytes.CutPrefix(line, []byte(`{"exit":{"key":`)); ok {
		if key, ok := quoted[string(token(rest))]; ok {
			var l exitLine
			if json.Unmarshal(line, &l) == nil && l.Exit != nil {
				b.exits[key] = l.Exit
			}
		}
		return
	}
	b.rareLine(line)
}

func (b *book) rareLine(line []byte) {
	switch {
	case bytes.HasPrefix(line, []byte(`{"keeper":`)):
		var l keeperLine
		if json.Unmarshal(line, &l) == nil {
			b.kept, b.keeper, b.epoch = true, l.Keeper, max(b.epoch, l.Epoch)
		}
	case bytes.HasPrefix(line, []byte(`{"lost":`)):
		var l lostLine
		if json.Unmarshal(line, &l) == nil {
			b.lost[l.Lost] = true
		}
	case bytes.HasPrefix(line, []byte(`{"closed":`)):
		var l closedLine
		if json.Unmarshal(line, &l) == nil {
			b.closed = max(b.closed, l.Closed)
		}
	}
}

// token is the quoted string that b begins with, quotes included.
func token(b []byte) []byte {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return b[:i+1]
		}
	}
	return nil
}
