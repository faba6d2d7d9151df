import FuzzDriver
import FuzzedInputs

fuzz(FuzzBodies.envelope)
