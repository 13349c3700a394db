package cli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/spelling"
)

// flagError is an error of the reader of flags, in our words and with what to type next.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var bare *pflag.ValueRequiredError
	var bad *pflag.InvalidValueError
	var odd *pflag.InvalidSyntaxError
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(cmd, unknown)
	case errors.As(err, &bare):
		f := bare.GetFlag()
		return wrongFlag(cmd, f, fmt.Errorf("--%s needs a value", f.Name))
	case errors.As(err, &bad):
		f := bad.GetFlag()
		return wrongFlag(cmd, f, fmt.Errorf("--%s %q: %w", f.Name, bad.GetValue(), wrongValue(f, bad)))
	case errors.As(err, &odd):
		return usage(cmd, fmt.Errorf("%s is no flag", odd.GetSpecifiedFlag()))
	}
	return usage(cmd, err)
}

func unknownFlag(cmd *cobra.Command, e *pflag.NotExistError) error {
	if e.GetSpecifiedShortnames() != "" {
		return usage(cmd, fmt.Errorf("unknown flag -%s", e.GetSpecifiedName()))
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	err := fmt.Errorf("unknown flag --%s", e.GetSpecifiedName())
	if near := spelling.Near(e.GetSpecifiedName(), names); near != "" {
		return exit.New(exit.Usage, "", err, fmt.Sprintf("did you mean --%s? see %s --help", near, cmd.CommandPath()))
	}
	return usage(cmd, err)
}

// wrongFlag says what a flag is for, beside what is wrong with its value.
func wrongFlag(cmd *cobra.Command, f *pflag.Flag, err error) error {
	return exit.New(exit.Usage, "", err, fmt.Sprintf("--%s: %s; see %s --help", f.Name, f.Usage, cmd.CommandPath()))
}

// wrongValue is what a flag of that type takes.
func wrongValue(f *pflag.Flag, e *pflag.InvalidValueError) error {
	cause := e.Unwrap()
	switch kind := f.Value.Type(); {
	case errors.Is(cause, strconv.ErrRange):
		return errors.New("the number is too large or too small")
	case kind == "int" || kind == "int64":
		return errors.New("must be a whole number")
	case kind == "bool":
		return errors.New("must be true or false")
	case kind == "duration":
		return errors.New("must be a time with its unit, such as 90s, 5m or 2h")
	}
	return cause
}
