package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	diskWarn, diskBlock   = 1 << 30, 100 << 20 // bytes
	nodesWarn, nodesBlock = 10_000, 1_000      // files that can still be made
	clockSpan             = 100 * time.Millisecond
	clockDrift            = 20 * time.Millisecond
	yearFirst, yearLast   = 2025, 2100
)

// disk looks at the room for journals and logs.
func (p Patient) disk(context.Context) []Finding {
	if p.State == "" {
		return nil
	}
	dir := p.State
	var st unix.Statfs_t
	err := unix.Statfs(dir, &st)
	for os.IsNotExist(err) && filepath.Dir(dir) != dir { // it will lie in the nearest one that is there
		dir = filepath.Dir(dir)
		err = unix.Statfs(dir, &st)
	}
	if err != nil {
		return []Finding{{Check: checkDisk, Level: LevelBlock, What: fmt.Sprintf("%s cannot be asked for its room: %v", dir, err), Cure: "check the mount"}}
	}
	return []Finding{judgeDisk(p.State, uint64(st.Bavail)*uint64(st.Bsize), uint64(st.Ffree), uint64(st.Files) > 0)}
}

// judgeDisk weighs what is free. A file system that makes inodes as it goes
// tells of none.
func judgeDisk(dir string, free, nodes uint64, counted bool) Finding {
	f := Finding{
		Check: checkDisk, Level: LevelOK, What: fmt.Sprintf("%s free for %s", size(free), dir),
		Facts: map[string]string{"dir": dir, "free_bytes": strconv.FormatUint(free, 10)},
	}
	if counted {
		f.Facts["free_inodes"] = strconv.FormatUint(nodes, 10)
	}
	switch {
	case free < diskBlock || counted && nodes < nodesBlock:
		f.Level = LevelBlock
	case free < diskWarn || counted && nodes < nodesWarn:
		f.Level = LevelWarn
	default:
		return f
	}
	if free >= diskWarn {
		f.What = fmt.Sprintf("%d more files can be made in %s", nodes, dir)
	}
	f.Cure = "make room there, or name a state directory on another disk (BELAY_STATE)"
	return f
}

func size(n uint64) string {
	switch {
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// clock looks whether the time of day can be and goes as fast as time does.
func clock(ctx context.Context) []Finding {
	begin := time.Now()
	timer := time.NewTimer(clockSpan)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	end := time.Now()
	// Without their monotonic part times are those of the wall.
	drift := end.Round(0).Sub(begin.Round(0)) - end.Sub(begin)
	return []Finding{judgeClock(end, drift)}
}

func judgeClock(now time.Time, drift time.Duration) Finding {
	f := Finding{
		Check: checkClock, Level: LevelOK, What: now.Format("2006-01-02 15:04:05 MST (-07:00)"),
		Facts: map[string]string{"time": now.Format(time.RFC3339), "zone": now.Format("MST -07:00"), "drift_ms": strconv.FormatInt(drift.Milliseconds(), 10)},
	}
	switch {
	case now.Year() < yearFirst || now.Year() >= yearLast:
		f.Level, f.Cure = LevelWarn, "set the clock: services refuse logins and certificates at a wrong time"
		f.What += ": that cannot be"
	case drift.Abs() > clockDrift:
		f.Level, f.Cure = LevelWarn, "check the time service: waits for a reset time are counted by this clock"
		f.What += fmt.Sprintf(": it moved %s against time itself within %s", drift.Round(time.Millisecond), clockSpan)
	}
	return f
}

// path looks at where programs are looked for.
func (p Patient) path(context.Context) []Finding {
	text := p.env("PATH")
	if text == "" {
		return []Finding{{Check: checkPath, Level: LevelBlock, What: "PATH is not set: no program can be found", Cure: "set PATH, for example to /usr/local/bin:/usr/bin:/bin"}}
	}
	dirs := filepath.SplitList(text)
	var loose []string
	for _, d := range dirs {
		if !filepath.IsAbs(d) {
			loose = append(loose, strconv.Quote(d))
		}
	}
	f := Finding{Check: checkPath, Level: LevelOK, What: fmt.Sprintf("PATH has %d directories", len(dirs)), Facts: map[string]string{"path": text}}
	if len(loose) > 0 {
		f.Level, f.Cure = LevelWarn, "take it out of PATH"
		f.What = "PATH has " + strings.Join(loose, ", ") + ", which means another directory in each step: a file of a working tree could pass for a program"
	}
	return []Finding{f}
}

// tempDir is where programs put files for a moment.
func (p Patient) tempDir() string {
	if dir := p.env("TMPDIR"); dir != "" {
		return dir
	}
	return "/tmp"
}

func (p Patient) temp(context.Context) []Finding {
	dir := p.tempDir()
	file, err := os.CreateTemp(dir, "belay-doctor-")
	if err == nil {
		_, err = file.WriteString("written\n")
		if shut := file.Close(); err == nil {
			err = shut
		}
		if gone := os.Remove(file.Name()); err == nil {
			err = gone
		}
	}
	if err != nil {
		return []Finding{{
			Check: checkTemp, Level: LevelBlock, What: fmt.Sprintf("nothing can be written to %s: %v", dir, err),
			Cure: "set TMPDIR to a directory that can be written: bash, git and every agent need one",
		}}
	}
	return []Finding{{Check: checkTemp, Level: LevelOK, What: dir + " can be written"}}
}
