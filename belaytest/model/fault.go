package model

import "net/http"

// fault is the closed list of answers that are an error.
type fault string

const (
	faultAuth      fault = "auth"
	faultForbidden fault = "forbidden"
	faultModel     fault = "model"
	faultRate      fault = "rate"
	faultRateLong  fault = "rate_long"
	faultQuota     fault = "quota"
	faultServer    fault = "server"
	faultOverload  fault = "overload"
	faultContext   fault = "context"
)

// word is how a service tells a fault: a status, a type and a sentence.
type word struct {
	status     int
	kind, text string
	code       string // OpenAI's finer name
}

// retryAfter is the header that goes with a fault, in seconds.
func (f fault) retryAfter() string {
	switch f {
	case faultRate:
		return "2"
	case faultRateLong:
		return "3600"
	case faultAuth, faultForbidden, faultModel, faultQuota, faultServer, faultOverload, faultContext:
	}
	return ""
}

func (f fault) anthropic() word {
	switch f {
	case faultAuth:
		return word{status: 401, kind: "authentication_error", text: "invalid x-api-key"}
	case faultForbidden:
		return word{status: 403, kind: "permission_error", text: "Your API key does not have permission to use the specified resource"}
	case faultModel:
		return word{status: 404, kind: "not_found_error", text: "model: mock-model"}
	case faultRate, faultRateLong:
		return word{status: 429, kind: "rate_limit_error", text: "This request would exceed your organization's rate limit"}
	case faultQuota:
		return word{status: 400, kind: "invalid_request_error", text: "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}
	case faultServer:
		return word{status: 500, kind: "api_error", text: "Internal server error"}
	case faultOverload:
		return word{status: 529, kind: "overloaded_error", text: "Overloaded"}
	case faultContext:
		return word{status: 400, kind: "invalid_request_error", text: "prompt is too long: 250000 tokens > 200000 maximum"}
	}
	return word{status: http.StatusTeapot, text: string(f)}
}

func (f fault) openai() word {
	switch f {
	case faultAuth:
		return word{status: 401, kind: "invalid_request_error", code: "invalid_api_key", text: "Incorrect API key provided: dummy. You can find your API key at https://platform.openai.com/account/api-keys."}
	case faultForbidden:
		return word{status: 403, kind: "invalid_request_error", code: "forbidden", text: "You are not allowed to sample from this model"}
	case faultModel:
		return word{status: 404, kind: "invalid_request_error", code: "model_not_found", text: "The model `mock-model` does not exist or you do not have access to it."}
	case faultRate, faultRateLong:
		return word{status: 429, kind: "requests", code: "rate_limit_exceeded", text: "Rate limit reached for requests"}
	case faultQuota:
		return word{status: 429, kind: "insufficient_quota", code: "insufficient_quota", text: "You exceeded your current quota, please check your plan and billing details."}
	case faultServer:
		return word{status: 500, kind: "server_error", text: "The server had an error while processing your request. Sorry about that!"}
	case faultOverload:
		return word{status: 529, kind: "server_error", code: "server_is_overloaded", text: "Our servers are currently overloaded. Please try again later."}
	case faultContext:
		return word{status: 400, kind: "invalid_request_error", code: "context_length_exceeded", text: "This model's maximum context length is 128000 tokens. However, your messages resulted in 250000 tokens. Please reduce the length of the messages."}
	}
	return word{status: http.StatusTeapot, text: string(f)}
}

func (f fault) gemini() word {
	switch f {
	case faultAuth:
		return word{status: 401, kind: "UNAUTHENTICATED", text: "API key not valid. Please pass a valid API key."}
	case faultForbidden:
		return word{status: 403, kind: "PERMISSION_DENIED", text: "The caller does not have permission"}
	case faultModel:
		return word{status: 404, kind: "NOT_FOUND", text: "models/mock-model is not found for API version v1beta"}
	case faultRate, faultRateLong:
		return word{status: 429, kind: "RESOURCE_EXHAUSTED", text: "Resource has been exhausted (e.g. check quota)."}
	case faultQuota:
		return word{status: 429, kind: "RESOURCE_EXHAUSTED", text: "You exceeded your current quota, please check your plan and billing details. Quota exceeded for metric: generate_requests_per_day, limit: 0"}
	case faultServer:
		return word{status: 500, kind: "INTERNAL", text: "An internal error has occurred."}
	case faultOverload:
		return word{status: 503, kind: "UNAVAILABLE", text: "The model is overloaded. Please try again later."}
	case faultContext:
		return word{status: 400, kind: "INVALID_ARGUMENT", text: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}
	}
	return word{status: http.StatusTeapot, text: string(f)}
}
