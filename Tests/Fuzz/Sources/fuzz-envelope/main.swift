import FuzzedInputs
import FuzzDriver

fuzz(FuzzBodies.envelope)
