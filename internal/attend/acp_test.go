package attend

func acpMain(string) int { return 0 }
