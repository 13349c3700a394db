package cli

import (
	"testing"

	"github.com/belay-run/belay/internal/config"
)

func TestReviewed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		setting string
		o       doOptions
		want    string
	}{
		{config.ReviewSeveral, doOptions{}, config.ReviewSeveral},
		{config.ReviewAlways, doOptions{}, config.ReviewAlways},
		{config.ReviewNever, doOptions{review: true}, config.ReviewAlways},
		{config.ReviewAlways, doOptions{noReview: true}, config.ReviewNever},
		{config.ReviewAlways, doOptions{planOnly: true}, config.ReviewNever},
	} {
		cfg := config.Defaults()
		cfg.PlanReview.Value = c.setting
		if got := c.o.reviewed(cfg); got != c.want {
			t.Errorf("%s: %s, want %s", c.setting, got, c.want)
		}
	}
}
