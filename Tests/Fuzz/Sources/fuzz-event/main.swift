import FuzzDriver
import FuzzedInputs

fuzz(FuzzBodies.event)
