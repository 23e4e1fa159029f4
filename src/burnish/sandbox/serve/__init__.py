"""The sandbox over HTTP, in the words of SandboxFusion: /run_code, /run_jupyter, /submit."""
