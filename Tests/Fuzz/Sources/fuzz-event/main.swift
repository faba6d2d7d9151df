import FuzzedInputs
import FuzzDriver

fuzz(FuzzBodies.event)
