import FuzzBodies
import FuzzDriver

fuzz(FuzzBodies.envelope)
