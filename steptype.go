package belay

// StepType says who does a step. All that is known of one is its row in stepTypes;
// which keys it takes is its row in the room recipe.
type StepType string

const (
	TypeBash    StepType = "bash"    // a shell script
	TypeRecipe  StepType = "recipe"  // a child run
	TypeAgent   StepType = "agent"   // an agent CLI
	TypeCall    StepType = "call"    // a function that Belay ships
	TypeApprove StepType = "approve" // a person
)

// StepRow is what is known of one type of step.
type StepRow struct {
	Type   StepType
	Words  string      // what a person calls such a step
	Agent  bool        // an agent does it: it has a prompt, a session and a bill, and can claim what is not so
	Child  bool        // it is a run of its own, whose steps have their own recoveries
	Shell  bool        // a script does it, which runs as long as it likes and ends with an exit code
	Writes bool        // it can change the files of its tree
	Inside bool        // Belay does it by itself, without a process: the same inputs give the same result each time
	Asks   bool        // a person does it, by an answer: it starts no process and takes no slot
	Fails  FailureKind // what its failure is when nothing more is known
}

// stepTypes has a row for each type of step.
var stepTypes = []StepRow{
	{Type: TypeBash, Words: "shell step", Shell: true, Writes: true, Fails: BashFailure},
	{Type: TypeAgent, Words: "agent step", Agent: true, Writes: true, Fails: BashFailure},
	{Type: TypeRecipe, Words: "sub-recipe", Child: true, Writes: true, Fails: RecipeFailure},
	{Type: TypeCall, Words: "call", Inside: true, Fails: BashFailure},
	{Type: TypeApprove, Words: "approval", Asks: true, Fails: BashFailure},
}

// StepTypes lists all types of step.
func StepTypes() []StepType {
	var list []StepType
	for i := range stepTypes {
		list = append(list, stepTypes[i].Type)
	}
	return list
}

// Row is what is known of the type; nothing of one that is not ours.
func (t StepType) Row() StepRow {
	for i := range stepTypes {
		if stepTypes[i].Type == t {
			return stepTypes[i]
		}
	}
	return StepRow{}
}

// Agent tells whether an agent does such a step.
func (t StepType) Agent() bool { return t.Row().Agent }

// Child tells whether such a step is a run of its own.
func (t StepType) Child() bool { return t.Row().Child }

// Inside tells whether Belay does such a step by itself.
func (t StepType) Inside() bool { return t.Row().Inside }

// Asks tells whether such a step is a question to a person.
func (t StepType) Asks() bool { return t.Row().Asks }
